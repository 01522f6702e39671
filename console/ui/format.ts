export const formatPercent = (value: number) => `${Math.round(value)} %`

export const formatGibibytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`

/** In the largest unit in which the value is at least 1, up to GB. */
export function formatFileSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB']
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  return `${formatRate(bytes / 1000 ** unit)} ${units[unit]}`
}

/** One decimal below ten, none above. */
export const formatRate = (value: number) => value.toFixed(value < 10 ? 1 : 0)

export const formatMilliseconds = (value: number) => `${Math.round(value)} ms`

/** In its two largest units: `3 d 4 h`, `12 min 5 s`. */
export function formatDuration(seconds: number): string {
  const whole = Math.floor(seconds)
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3_600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ] as const
  const first = parts.findIndex(([value]) => value > 0)
  return parts
    .slice(first < 0 ? -1 : first)
    .slice(0, 2)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ')
}

/** Local time of day with seconds. */
export const formatTimeOfDay = (time: string) =>
  new Date(time).toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })

/** Capitalizes the first letter, unless the text begins with a URL. */
export const capitalize = (text: string) =>
  text.replace(/^\p{Ll}(?![\w+.-]*:\/\/)/u, letter => letter.toUpperCase())
