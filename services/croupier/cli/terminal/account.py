"""What a person does with their player: another name, another device, sign-out and deletion."""

from croupier.cli.terminal.table_text import time_text
from croupier.cli.terminal.texts import Texts
from croupier_client.aio import Client


def help_lines(texts: Texts) -> tuple[str, ...]:
    """Return the commands about a player."""
    return (
        texts.tr(
            "/name NAME renames you on all devices. /device prints a code, by which another device signs in as you: "
            "croupier play --device-code CODE."
        ),
        texts.tr(
            "/sign-out ends the sign-in of this device, until croupier play signs in again; /sign-out all ends those "
            "of all devices, and the others need a new code. /delete deletes your player for good."
        ),
    )


class Account:
    """The player of a person; typed lines about it are commands of `help_lines`."""

    def __init__(self, client: Client, texts: Texts) -> None:
        self.has_ended = False
        """Whether the player has signed out, or is deleted."""
        self.is_deleted = False
        self._client = client
        self._texts = texts
        self._is_asked = False

    async def answer(self, line: str) -> str | None:
        """Carry out a typed line, and return the answer; None for a line that is not about the player.

        Raises CroupierError for a refusal.
        """
        is_asked, self._is_asked = self._is_asked, False
        command, _, rest = line.strip().partition(" ")
        match command, rest.strip():
            case _ if is_asked:
                return await self._delete(line.strip())
            case "/name", name:
                renamed = (await self._client.update_player(name=name)).player
                return self._texts.tr("your name is {name} now", name=renamed.name)
            case "/device", "":
                made = await self._client.create_device_code()
                time = time_text(self._texts, made.lifetime.seconds)
                return self._texts.tr(
                    "type {code} at the other device, within {time}", code=made.device_code, time=time
                )
            case "/sign-out", "" | "all" as devices:
                await self._client.sign_out(all_devices=devices == "all")
                self.has_ended = True
                if devices:
                    return self._texts.tr("signed out on all devices: croupier play signs in again here")
                return self._texts.tr("signed out: croupier play signs in again here")
            case "/delete", "":
                self._is_asked = True
                return self._texts.tr("your player is deleted for good, if you write its name: {name}", name=self._name)
        return None

    @property
    def _name(self) -> str:
        return self._client.player.name if self._client.player else ""

    async def _delete(self, typed: str) -> str:
        if not typed or typed != self._name:
            return self._texts.tr("nothing is deleted")
        await self._client.delete_player()
        self.has_ended = self.is_deleted = True
        return self._texts.tr("your player is deleted")
