// A table over text frames of a WebSocket, for Unity on desktop and phones: it needs .NET Standard 2.0 and nothing of Unity.
using System;
using System.IO;
using System.Net.WebSockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

/// <summary>The stream of one table: messages of JSON, as docs/websocket.md describes them.</summary>
public sealed class TableSocket : IDisposable
{
    const int BufferBytes = 16 * 1024;
    const int MaxMessageBytes = 4 * 1024 * 1024;
    static readonly TimeSpan Silence = TimeSpan.FromSeconds(45);

    readonly ClientWebSocket socket = new ClientWebSocket();
    readonly byte[] buffer = new byte[BufferBytes];

    /// <summary>The close code, once the stream has ended: 1000 when the game is over.</summary>
    public int? CloseCode => (int?)socket.CloseStatus;

    /// <summary>Open the stream; `address` begins with http:// or https://.</summary>
    public async Task Open(string address, string tableId, string accessToken, CancellationToken ending)
    {
        var url = new Uri("ws" + address.Substring("http".Length) + "/v1/tables/" + tableId + "/play");
        await socket.ConnectAsync(url, ending);
        await Send("{\"access_token\":\"" + accessToken + "\",\"watch\":{}}", ending);
    }

    /// <summary>Send a message; one at a time.</summary>
    public Task Send(string json, CancellationToken ending)
    {
        var bytes = new ArraySegment<byte>(Encoding.UTF8.GetBytes(json));
        return socket.SendAsync(bytes, WebSocketMessageType.Text, true, ending);
    }

    /// <summary>Return the next message, or null at the end. A silence longer than that of heartbeats is an error.</summary>
    public async Task<string> Receive(CancellationToken ending)
    {
        using (var silence = CancellationTokenSource.CreateLinkedTokenSource(ending))
        using (var message = new MemoryStream())
        {
            silence.CancelAfter(Silence);
            while (true)
            {
                var part = await socket.ReceiveAsync(new ArraySegment<byte>(buffer), silence.Token);
                if (part.MessageType == WebSocketMessageType.Close) return null;
                message.Write(buffer, 0, part.Count);
                if (message.Length > MaxMessageBytes) throw new InvalidDataException("the message is too long");
                if (part.EndOfMessage) return Encoding.UTF8.GetString(message.ToArray());
            }
        }
    }

    public void Dispose() => socket.Dispose();
}
