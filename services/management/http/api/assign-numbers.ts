/**
 * Assigns a number to every item that has no number under `key`: the smallest unused
 * number, starting at 1.
 */
export function assignMissingNumbers<
  Key extends string,
  Item extends Partial<Record<Key, number | undefined>>,
>(key: Key, items: readonly Item[]) {
  const usedNumbers = new Set<number | undefined>(items.map(item => item[key]))
  let lastAssigned = 0

  function nextUnused(): number {
    let candidate = lastAssigned + 1
    while (usedNumbers.has(candidate)) candidate += 1
    lastAssigned = candidate
    return candidate
  }

  return items.map(
    item => ({ ...item, [key]: item[key] ?? nextUnused() }) as Item & Record<Key, number>,
  )
}
