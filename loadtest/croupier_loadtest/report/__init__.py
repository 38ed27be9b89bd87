"""The result of a run, written as JSON, JUnit, text and a page with plots."""
