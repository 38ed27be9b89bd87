"""The load process: plays users in one asyncio program, without Locust, and judges tables in a child process."""
