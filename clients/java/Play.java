import croupier.api.v1.CreateTableRequest;
import croupier.api.v1.EngineServiceGrpc;
import croupier.api.v1.LegalActions;
import croupier.api.v1.LobbyServiceGrpc;
import croupier.api.v1.SignInRequest;
import croupier.api.v1.SubmitActionRequest;
import croupier.api.v1.TableEvent;
import croupier.api.v1.WatchTableRequest;
import croupier.api.v1.WatchTableResponse;
import io.grpc.CallCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Iterator;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Plays some actions of a game against a bot: java Play HOST PORT ACTIONS. Without TLS, retries and resumption. */
public final class Play {
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> TABLE = Metadata.Key.of("x-table-id", Metadata.ASCII_STRING_MARSHALLER);

    /** The metadata of each call: the token, and the table by whose id the gateway routes. */
    private static CallCredentials credentials(String token, String tableId) {
        return new CallCredentials() {
            @Override
            public void applyRequestMetadata(RequestInfo info, Executor executor, MetadataApplier applier) {
                Metadata headers = new Metadata();
                headers.put(AUTHORIZATION, "Bearer " + token);
                if (tableId != null) headers.put(TABLE, tableId);
                applier.apply(headers);
            }

            @Override
            public void thisUsesUnstableApi() {}
        };
    }

    private static String openTable(LobbyServiceGrpc.LobbyServiceBlockingStub lobby) {
        CreateTableRequest wanted =
                CreateTableRequest.newBuilder().setGame("thulla").setSeatCount(2).addBots("").setIsReady(true).build();
        return lobby.createTable(wanted).getTable().getTableId();
    }

    private static LegalActions legalActions(TableEvent event) {
        switch (event.getEventKindCase()) {
            case SNAPSHOT:
                return event.getSnapshot().getLegalActions();
            case UPDATE:
                return event.getUpdate().getLegalActions();
            case TURN_STATE:
                return event.getTurnState().getLegalActions();
            default:
                return LegalActions.getDefaultInstance();
        }
    }

    /** Opens the stream of a table; before its game has begun, the engine does not know it. */
    private static Iterator<WatchTableResponse> watch(
            EngineServiceGrpc.EngineServiceBlockingStub engine, String tableId) throws InterruptedException {
        for (int attempt = 0; ; attempt++) {
            Iterator<WatchTableResponse> events =
                    engine.watchTable(WatchTableRequest.newBuilder().setTableId(tableId).build());
            try {
                events.hasNext();
                return events;
            } catch (StatusRuntimeException refused) {
                if (refused.getStatus().getCode() != Status.Code.NOT_FOUND || attempt == 50) throw refused;
                Thread.sleep(100);
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int wanted = Integer.parseInt(arguments[2]);
        ManagedChannel channel = ManagedChannelBuilder.forAddress(arguments[0], Integer.parseInt(arguments[1]))
                .usePlaintext()
                .build();
        try {
            play(channel, wanted);
        } finally {
            channel.shutdownNow();
        }
    }

    private static void play(ManagedChannel channel, int wanted) throws InterruptedException {
        // A real client keeps its secret.
        SignInRequest guest = SignInRequest.newBuilder().setDeviceSecret(UUID.randomUUID().toString()).build();
        String token = LobbyServiceGrpc.newBlockingStub(channel).signIn(guest).getTokens().getAccessToken();
        String tableId = openTable(LobbyServiceGrpc.newBlockingStub(channel).withCallCredentials(credentials(token, null)));
        EngineServiceGrpc.EngineServiceBlockingStub engine = EngineServiceGrpc.newBlockingStub(channel)
                .withCallCredentials(credentials(token, tableId))
                .withDeadlineAfter(1, TimeUnit.MINUTES);
        int played = 0;
        Iterator<WatchTableResponse> events = watch(engine, tableId);
        while (played < wanted && events.hasNext()) {
            LegalActions legal = legalActions(events.next().getTableEvent());
            if (legal.getActionsCount() == 0) continue;
            SubmitActionRequest action = SubmitActionRequest.newBuilder()
                    .setTableId(tableId)
                    .setRequestId(UUID.randomUUID().toString())
                    .setAction(legal.getActions(0))
                    .build();
            System.out.println("action stored as entry " + engine.submitAction(action).getSequence());
            played++;
        }
    }
}
