/** Assigns the smallest free number from 1 to every item without one. */
export function assignMissingNumbers<
  Key extends string,
  Item extends Partial<Record<Key, number | undefined>>,
>(key: Key, items: readonly Item[]) {
  const assigned = new Set<number | undefined>(items.map(item => item[key]))
  let last = 0
  function nextFree(): number {
    do last += 1
    while (assigned.has(last))
    return last
  }
  return items.map(item => ({ ...item, [key]: item[key] ?? nextFree() }) as Item & Record<Key, number>)
}
