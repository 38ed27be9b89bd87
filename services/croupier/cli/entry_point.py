"""What the script `croupier` imports: little, since processes that multiprocessing spawns import it again."""


def main() -> None:
    """Run the command with the arguments of the process."""
    from croupier.cli.__main__ import main as run

    run()
