/** The best class of the row that begins at `row`, `[4 of the box, objectness, class scores]`, and its score. */
export function bestClass(
  values: Float32Array,
  row: number,
  classes: number,
): { label: number; score: number } {
  let label = 0
  for (let other = 1; other < classes; other++)
    if (values[row + 5 + other]! > values[row + 5 + label]!) label = other
  return { label, score: values[row + 4]! * values[row + 5 + label]! }
}
