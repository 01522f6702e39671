/** What a timeline shows: ms since 1970. */
export interface Span {
  from: number
  to: number
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
/** Offsets from UTC are whole quarters of an hour, everywhere and always. */
const QUARTER_MS = 15 * MINUTE_MS
const LEAST_MS = 10 * SECOND_MS
/** Between two labels. */
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map(seconds => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map(minutes => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map(hours => hours * HOUR_MS),
]

/** `factor` below 1 shows less, around a time that stays where it is. */
export function zoomed(span: Span, factor: number, aroundMs: number, limits: Span): Span {
  const length = lengthOf(span, factor, limits)
  const share = (aroundMs - span.from) / (span.to - span.from)
  return within({ from: aroundMs - share * length, to: aroundMs + (1 - share) * length }, limits)
}

/** As `zoomed`, with that time in the middle. */
export function centred(span: Span, factor: number, aroundMs: number, limits: Span): Span {
  const length = lengthOf(span, factor, limits)
  return within({ from: aroundMs - length / 2, to: aroundMs + length / 2 }, limits)
}

const lengthOf = ({ from, to }: Span, factor: number, limits: Span) =>
  Math.max(LEAST_MS, Math.min(limits.to - limits.from, (to - from) * factor))

export const moved = ({ from, to }: Span, byMs: number, limits: Span): Span =>
  within({ from: from + byMs, to: to + byMs }, limits)

/** Moved as little as needed to show a time. */
export function showing(span: Span, timeMs: number, limits: Span): Span {
  const length = span.to - span.from
  if (timeMs >= span.from && timeMs < span.to) return span
  return within({ from: timeMs - length / 2, to: timeMs + length / 2 }, limits)
}

function within({ from, to }: Span, limits: Span): Span {
  const length = Math.min(to - from, limits.to - limits.from)
  const begin = Math.max(limits.from, Math.min(from, limits.to - length))
  return { from: begin, to: begin + length }
}

export interface Tick {
  timeMs: number
  /** By the clocks where the viewer is. */
  text: string
}

/** Round times by the viewer's clocks, at most `most` of them. On a day that has an hour twice, it has a tick twice. */
export function ticksOf(span: Span, most: number): Tick[] {
  const step = STEPS_MS.find(each => (span.to - span.from) / each <= most) ?? STEPS_MS[STEPS_MS.length - 1]!
  // Where the clocks are set, round times are nearer together or further apart than a step.
  const stride = Math.min(step, QUARTER_MS)
  const ticks: Tick[] = []
  for (let timeMs = Math.ceil(span.from / stride) * stride; timeMs < span.to; timeMs += stride) {
    if (sinceMidnight(timeMs) % step === 0) ticks.push({ timeMs, text: clockText(timeMs, step < MINUTE_MS) })
  }
  return ticks
}

function sinceMidnight(timeMs: number): number {
  const date = new Date(timeMs)
  return date.getHours() * HOUR_MS + date.getMinutes() * MINUTE_MS + date.getSeconds() * SECOND_MS
}

/** `14:05`, or `14:05:09`. */
export const clockText = (timeMs: number, withSeconds: boolean) =>
  new Date(timeMs).toTimeString().slice(0, withSeconds ? 8 : 5)
