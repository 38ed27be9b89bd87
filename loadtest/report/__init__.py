"""What came of a run: one result, written as JSON, JUnit, text and a page with plots."""
