"""The five games once more, slow and plain, written from their rules pages and from nothing else."""
