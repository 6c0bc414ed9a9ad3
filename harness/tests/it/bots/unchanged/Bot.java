import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A bot in plain Java: Telegram's address is written in, and nothing is said of certificates. */
public class Bot {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Pattern UPDATE = Pattern.compile("\"update_id\":(\\d+)");
    private static final Pattern CHAT = Pattern.compile("\"chat\":\\{[^}]*?\"id\":(-?\\d+)");

    private static String call(String method, String body) throws Exception {
        URI at = URI.create("https://api.telegram.org/bot" + System.getenv("BOT_TOKEN") + "/" + method);
        HttpRequest request =
            HttpRequest.newBuilder(at).header("Content-Type", "application/json").POST(BodyPublishers.ofString(body)).build();
        return CLIENT.send(request, BodyHandlers.ofString()).body();
    }

    public static void main(String[] arguments) throws Exception {
        long offset = 0;
        while (true) {
            String updates = call("getUpdates", "{\"offset\":" + offset + ",\"limit\":1,\"timeout\":20}");
            Matcher update = UPDATE.matcher(updates);
            Matcher chat = CHAT.matcher(updates);
            if (update.find() && chat.find()) {
                offset = Long.parseLong(update.group(1)) + 1;
                call("sendMessage", "{\"chat_id\":" + chat.group(1) + ",\"text\":\"yes\"}");
            }
        }
    }
}
