"""The five games once more, slow and plain, written from the pages in docs/rules and from nothing else."""
