// Conversion between moments (epoch ms) and the clocks of a time zone. A local time is expressed as
// the epoch milliseconds at which clocks in UTC show it.

const SECOND_MS = 1000
const DAY_MS = 86_400_000

/** An offset as `Intl` formats it, such as `GMT`, `GMT+05:30` or `GMT-00:25:21`. */
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?/

/**
 * A format for each time zone. They are retained, because creating one takes much longer than using
 * it.
 */
const formats = new Map<string, Intl.DateTimeFormat>()

/**
 * Returns the difference between the local time of a zone and UTC at a moment, in ms. East of
 * Greenwich it is positive.
 */
export function getOffsetMs(timeMs: number, timeZone: string): number {
  const parts = getFormat(timeZone).formatToParts(timeMs)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  // The numbers are undefined in `GMT`, and the seconds are undefined in almost all offsets.
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = OFFSET.exec(name) ?? []
  const offsetMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * SECOND_MS
  return sign === '-' ? -offsetMs : offsetMs
}

function getFormat(timeZone: string): Intl.DateTimeFormat {
  const existing = formats.get(timeZone)
  if (existing) return existing

  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  formats.set(timeZone, format)
  return format
}

/**
 * Returns the first moment at which the clocks of a zone show a local time. If they skip it,
 * returns the moment of the skip: where daylight saving starts at midnight, the day begins then.
 */
export function toMoment(localMs: number, timeZone: string): number {
  // This assumes that the offset changes at most once in these two days.
  const offsetBefore = getOffsetMs(localMs - DAY_MS, timeZone)
  const offsetAfter = getOffsetMs(localMs + DAY_MS, timeZone)
  const candidates = [localMs - offsetBefore, localMs - offsetAfter]
  const shown = candidates.filter(timeMs => timeMs + getOffsetMs(timeMs, timeZone) === localMs)
  if (shown.length > 0) return Math.min(...shown)

  // No candidate is shown: the clocks skip the local time at a moment between the candidates, which
  // is a whole second. Bisect to find the first second that has the new offset.
  let beforeS = Math.floor(Math.min(...candidates) / SECOND_MS) - 1
  let afterS = Math.ceil(Math.max(...candidates) / SECOND_MS)
  while (afterS - beforeS > 1) {
    const middleS = Math.floor((beforeS + afterS) / 2)
    if (getOffsetMs(middleS * SECOND_MS, timeZone) === offsetAfter) afterS = middleS
    else beforeS = middleS
  }
  return afterS * SECOND_MS
}
