// The condition that a column is one of several texts, which are bound as one value: a JSON list.

/** By engine, as in `WHERE ${among('id')[session.kind]}`. */
export function among(column: string) {
  return {
    sqlite: `${column} IN (SELECT value FROM json_each(?))`,
    postgres: `${column} = ANY(ARRAY(SELECT json_array_elements_text(CAST(? AS json))))`,
  }
}
