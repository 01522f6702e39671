/** Index of the best class in the row that begins at `row`: 4 of the box, objectness, class scores. */
export function bestClass(values: Float32Array, row: number, classes: number): number {
  let best = 0
  for (let other = 1; other < classes; other++)
    if (values[row + 5 + other]! > values[row + 5 + best]!) best = other
  return best
}

/** What a row's class scores: the class times the objectness. */
export const scoreOf = (values: Float32Array, row: number, label: number) =>
  values[row + 4]! * values[row + 5 + label]!
