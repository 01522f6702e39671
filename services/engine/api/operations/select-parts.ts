/**
 * Creates a response of the parts that a request asks for, such as `?filter=streams`. Without a
 * filter the response has all parts. Each part has a function that reads it; it is not called
 * for the other parts.
 */
export function selectParts<Parts extends object>(
  filter: readonly (keyof Parts)[] | undefined,
  readers: { [Name in keyof Parts]: () => Parts[Name] },
): Partial<Parts> {
  const selected: Partial<Parts> = {}
  for (const name of Object.keys(readers) as (keyof Parts)[]) {
    if (!filter || filter.includes(name)) selected[name] = readers[name]()
  }
  return selected
}
