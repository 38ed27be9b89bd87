// Plays a game by examples/unity/TableSocket.cs: prints the close code. Arguments: address, id of the table, access token.
using System;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

static class PlayTable
{
    static int Main(string[] arguments) => Play(arguments[0], arguments[1], arguments[2]).GetAwaiter().GetResult();

    static async Task<int> Play(string address, string tableId, string token)
    {
        using (var late = new CancellationTokenSource(TimeSpan.FromSeconds(100)))
        using (var socket = new TableSocket())
        {
            await socket.Open(address, tableId, token, late.Token);
            string message;
            while ((message = await socket.Receive(late.Token)) != null)
            {
                // Flat actions are enough for this game; an app uses a parser of JSON.
                var legal = Regex.Match(message, @"""actions"": ?\[(\{""\w+"": ?\{[^{}]*\}\})");
                if (!legal.Success) continue;
                var id = Guid.NewGuid().ToString();
                await socket.Send("{\"action\":{\"request_id\":\"" + id + "\",\"action\":" + legal.Groups[1] + "}}", late.Token);
            }
            Console.WriteLine(socket.CloseCode);
            return 0;
        }
    }
}
