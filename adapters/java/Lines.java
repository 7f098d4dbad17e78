import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;

/**
 * Lines in, lines out: what every client in Java is beside its reads.
 *
 * <p>Standard input has one JSON request per line, standard output one JSON answer per line; anything that a library
 * prints goes to standard error. An {@link Error} becomes an answer with {@code panicked}. A path that throws {@link
 * UnsupportedOperationException} has no way to do what was asked.
 */
final class Lines {
  static final ObjectMapper JSON = new ObjectMapper();

  private Lines() {}

  /** Makes the calls of the path that a request names. */
  interface Fetch {
    ObjectNode of(JsonNode asked) throws Exception;
  }

  /** Answers requests until standard input ends; {@code naming} is the class of an error. */
  static void serve(ObjectNode about, Fetch fetch, Function<Throwable, String> naming) throws IOException {
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    System.setOut(System.err);
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      if (line.isBlank()) {
        continue;
      }
      JsonNode id = null;
      ObjectNode made;
      try {
        JsonNode request = JSON.readTree(line);
        id = request.get("id");
        made = request.path("op").asText().equals("hello") ? about.deepCopy() : fetch.of(request);
        made.put("status", "ok");
      } catch (UnsupportedOperationException none) {
        made = JSON.createObjectNode().put("status", "unsupported").put("message", String.valueOf(none.getMessage()));
      } catch (Throwable thrown) {
        made = JSON.createObjectNode().put("status", "error").put("message", String.valueOf(thrown.getMessage()));
        made.put("class", naming.apply(thrown));
        if (thrown instanceof Error) {
          made.put("panicked", true);
        }
      }
      made.set("id", id);
      answers.print(JSON.writeValueAsString(made) + "\n");
      answers.flush();
    }
  }
}
