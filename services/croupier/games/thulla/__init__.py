"""Thulla: get rid of all cards; who still holds some at the end loses. The rules are texts/rules.en.md."""
