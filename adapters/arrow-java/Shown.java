import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.Period;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.arrow.memory.util.Float16;
import org.apache.arrow.vector.DurationVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.PeriodDuration;
import org.apache.arrow.vector.TimeStampSecVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.UInt1Vector;
import org.apache.arrow.vector.UInt4Vector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.complex.DenseUnionVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.MapVector;
import org.apache.arrow.vector.complex.RepeatedValueVector;
import org.apache.arrow.vector.complex.RunEndEncodedVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.complex.UnionVector;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.util.Text;

/**
 * Plain values of the objects that {@code getObject} and {@code FieldReader.readObject} give.
 *
 * <p>Unsigned integers come as the signed ones of the same bits; {@code getObjectNoOverflow} is for the others. An object
 * that does not hold all that the type does, such as a map of two equal names, has no plain value: it is an {@link
 * UnsupportedOperationException}.
 */
final class Shown {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private Shown() {}

  /** The plain value of an object that is the value of a slot. */
  static JsonNode of(Object value, ValueVector vector, int index) {
    if (value == null) {
      return JSON.nullNode();
    } else if (vector instanceof UnionVector v) {
      return of(value, v.getVector(index), index);
    } else if (vector instanceof DenseUnionVector v) {
      return of(value, v.getVectorByType(v.getTypeId(index)), v.getOffset(index));
    } else if (vector instanceof RunEndEncodedVector v) {
      return of(value, v.getValuesVector(), v.getPhysicalIndex(index));
    } else if (vector instanceof ExtensionTypeVector<?> v) {
      return of(value, v.getUnderlyingVector(), index);
    } else if (value instanceof List<?> items && vector instanceof RepeatedValueVector v) {
      return list(items, v.getDataVector(), Plain.bounds(v, index), vector instanceof MapVector);
    } else if (value instanceof List<?> items && vector instanceof FixedSizeListVector v) {
      long[] bounds = {v.getElementStartIndex(index), v.getElementEndIndex(index)};
      return list(items, v.getDataVector(), bounds, false);
    } else if (value instanceof Map<?, ?> members && vector instanceof StructVector v) {
      return struct(members, v, index);
    }
    if (vector instanceof TimeStampSecVector v && !holds(v.get(index))) {
      throw new UnsupportedOperationException("no LocalDateTime is " + v.get(index) + " seconds");
    }
    return leaf(value, vector);
  }

  /** True if there is a {@link LocalDateTime} for these seconds; of finer units, there is one for each of 64 bits. */
  private static boolean holds(long seconds) {
    return LocalDateTime.MIN.toEpochSecond(ZoneOffset.UTC) <= seconds
        && seconds <= LocalDateTime.MAX.toEpochSecond(ZoneOffset.UTC);
  }

  private static JsonNode list(List<?> items, ValueVector data, long[] bounds, boolean isMap) {
    if (items.size() != bounds[1] - bounds[0]) {
      return JSON.textNode("a list of " + items.size());
    }
    ArrayNode made = JSON.arrayNode();
    for (int at = 0; at < items.size(); at++) {
      JsonNode item = of(items.get(at), data, Math.toIntExact(bounds[0] + at));
      // The entries of a map are structs of two.
      made.add(isMap ? item.path("struct") : item);
    }
    return isMap ? JSON.objectNode().set("map", made) : made;
  }

  private static JsonNode struct(Map<?, ?> members, StructVector vector, int index) {
    ArrayNode fields = JSON.arrayNode();
    Set<String> names = new HashSet<>();
    for (FieldVector child : vector.getChildrenFromFields()) {
      if (!names.add(child.getName())) {
        throw new UnsupportedOperationException("two fields are named " + child.getName());
      }
      fields.add(of(members.get(child.getName()), child, index));
    }
    return JSON.objectNode().set("struct", fields);
  }

  private static JsonNode leaf(Object value, ValueVector vector) {
    if (value instanceof Boolean v) {
      return JSON.booleanNode(v);
    } else if (value instanceof Byte v) {
      return JSON.numberNode(vector instanceof UInt1Vector ? Byte.toUnsignedInt(v) : v);
    } else if (value instanceof Short v) {
      return vector instanceof Float2Vector ? Leaf.floating(Float16.toFloat(v)) : JSON.numberNode(v);
    } else if (value instanceof Character v) {
      return JSON.numberNode((int) v);
    } else if (value instanceof Integer v) {
      return JSON.numberNode(vector instanceof UInt4Vector ? Integer.toUnsignedLong(v) : v);
    } else if (value instanceof Long v) {
      return vector instanceof UInt8Vector ? JSON.numberNode(new BigInteger(Long.toUnsignedString(v))) : JSON.numberNode(v);
    } else if (value instanceof Float || value instanceof Double) {
      return Leaf.floating(((Number) value).doubleValue());
    } else if (value instanceof Text v) {
      return Leaf.text(v.copyBytes());
    } else if (value instanceof byte[] v) {
      return Leaf.hex(v);
    } else if (value instanceof BigDecimal v) {
      return Leaf.decimal(v.unscaledValue());
    }
    return temporal(value, vector);
  }

  private static JsonNode temporal(Object value, ValueVector vector) {
    if (value instanceof LocalDateTime v) {
      TimeUnit unit = vector instanceof TimeStampVector
          ? ((ArrowType.Timestamp) vector.getField().getType()).getUnit()
          : TimeUnit.MILLISECOND;
      return counted(v.toEpochSecond(ZoneOffset.UTC), v.getNano(), unit);
    } else if (value instanceof Duration v && vector instanceof DurationVector) {
      return counted(v.getSeconds(), v.getNano(), ((ArrowType.Duration) vector.getField().getType()).getUnit());
    } else if (value instanceof Period v) {
      return JSON.objectNode().put("months", v.toTotalMonths());
    } else if (value instanceof PeriodDuration v) {
      ObjectNode made = JSON.objectNode().put("months", v.getPeriod().toTotalMonths());
      return made.put("days", v.getPeriod().getDays()).put("ns", v.getDuration().toNanos());
    }
    // Days and milliseconds are a Duration, which does not tell the two apart.
    throw new UnsupportedOperationException("no plain value of " + value.getClass().getName());
  }

  /** A number of units; what is below one unit is left out. */
  private static JsonNode counted(long seconds, int nanoseconds, TimeUnit unit) {
    long perSecond =
        switch (unit) {
          case SECOND -> 1L;
          case MILLISECOND -> 1_000L;
          case MICROSECOND -> 1_000_000L;
          case NANOSECOND -> 1_000_000_000L;
        };
    BigInteger whole = BigInteger.valueOf(seconds).multiply(BigInteger.valueOf(perSecond));
    return JSON.numberNode(whole.add(BigInteger.valueOf(nanoseconds / (1_000_000_000L / perSecond))));
  }
}
