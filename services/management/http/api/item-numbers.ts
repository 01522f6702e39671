/** Gives those that have no number the smallest ones from 1 that are free. */
export function numberItems<Key extends string, Item extends Partial<Record<Key, number | undefined>>>(
  key: Key,
  given: readonly Item[],
) {
  const taken = new Set<number | undefined>(given.map(item => item[key]))
  let next = 0
  const free = (): number => {
    do next += 1
    while (taken.has(next))
    return next
  }
  return given.map(item => ({ ...item, [key]: item[key] ?? free() }) as Item & Record<Key, number>)
}
