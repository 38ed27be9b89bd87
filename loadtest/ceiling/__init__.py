"""The highest load that services of our own carry: tables are added step by step until a limit is passed."""
