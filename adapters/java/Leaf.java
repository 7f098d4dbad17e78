import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** The JSON form of values that JSON has no type for. */
final class Leaf {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private Leaf() {}

  static JsonNode floating(double value) {
    String bits = Double.isNaN(value) ? "nan" : String.format("%016x", Double.doubleToRawLongBits(value));
    return JSON.objectNode().put("f64", bits);
  }

  static JsonNode hex(byte[] bytes) {
    return JSON.objectNode().put("hex", HexFormat.of().formatHex(bytes));
  }

  /** A string; bytes that are not UTF-8, which JSON cannot carry, become hexadecimal digits. */
  static JsonNode text(byte[] utf8) {
    try {
      return JSON.textNode(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString());
    } catch (CharacterCodingException malformed) {
      return hex(utf8);
    }
  }

  static JsonNode decimal(BigInteger unscaled) {
    return JSON.objectNode().put("decimal", unscaled.toString());
  }
}
