"""The load process: plays users in one asyncio program, without Locust, and judges their tables in a child process."""
