// Conversion between moments (epoch ms) and the clocks of a time zone. A local time is expressed as
// the epoch milliseconds at which clocks in UTC show it.

const SECOND_MS = 1000
const DAY_MS = 86_400_000

/** An offset as `Intl` formats it, such as `GMT`, `GMT+05:30` or `GMT-00:25:21`. */
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?/

/**
 * Formats by time zone. They are retained, because creating one takes much longer than using it.
 */
const formats = new Map<string, Intl.DateTimeFormat>()

/**
 * Returns the difference between the local time of a zone and UTC at a moment, in ms. East of
 * Greenwich it is positive.
 */
export function getOffsetMs(timeMs: number, timeZone: string): number {
  const format =
    formats.get(timeZone) ?? new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  formats.set(timeZone, format)
  const name = format.formatToParts(timeMs).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(name) ?? []
  const offsetMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * SECOND_MS
  return sign === '-' ? -offsetMs : offsetMs
}

/**
 * Returns the first moment at which the clocks of a zone show a local time. If they skip it,
 * returns the moment of the skip: where daylight saving starts at midnight, the day begins then.
 */
export function toMoment(localMs: number, timeZone: string): number {
  // The offset changes at most once in these two days.
  const offsetBefore = getOffsetMs(localMs - DAY_MS, timeZone)
  const offsetAfter = getOffsetMs(localMs + DAY_MS, timeZone)
  const candidates = [localMs - offsetBefore, localMs - offsetAfter]
  const shown = candidates.filter(timeMs => timeMs + getOffsetMs(timeMs, timeZone) === localMs)
  if (shown.length > 0) return Math.min(...shown)

  // No candidate is shown: the clocks skip the local time between the candidates, at a whole
  // second. Bisect to find it.
  let before = Math.floor(Math.min(...candidates) / SECOND_MS) - 1
  let after = Math.ceil(Math.max(...candidates) / SECOND_MS)
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (getOffsetMs(middle * SECOND_MS, timeZone) === offsetAfter) after = middle
    else before = middle
  }
  return after * SECOND_MS
}
