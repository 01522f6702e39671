// Formats numbers, sizes, durations, times and sentences for display in the console.

export const formatPercent = (percent: number) => `${Math.round(percent)} %`

export const formatGibibytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`

/** Formats a size in the largest decimal unit in which it is at least 1: `1.5 MB`. */
export function formatFileSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB']
  let size = bytes
  let unitIndex = 0
  // A size that would be rounded to 1000 kB is shown as 1.0 MB.
  while (Math.round(size) >= 1000 && unitIndex < units.length - 1) {
    size /= 1000
    unitIndex += 1
  }
  return `${formatFigure(size)} ${units[unitIndex]}`
}

/** Formats a number with one decimal below ten, and none above. */
export const formatFigure = (figure: number) => figure.toFixed(figure < 10 ? 1 : 0)

export const formatMilliseconds = (milliseconds: number) => `${Math.round(milliseconds)} ms`

/** Formats a duration in its two largest units: `3 d 4 h`, `12 min 5 s`. */
export function formatDuration(seconds: number): string {
  const wholeSeconds = Math.floor(seconds)
  const secondsOfMinute = wholeSeconds % 60
  const minutes = Math.floor(wholeSeconds / 60) % 60
  const hours = Math.floor(wholeSeconds / 3_600) % 24
  const days = Math.floor(wholeSeconds / 86_400)
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${minutes} min`
  if (minutes > 0) return `${minutes} min ${secondsOfMinute} s`
  return `${secondsOfMinute} s`
}

/** Formats the local time of day with seconds: `14:05:09`. */
export const formatTimeOfDay = (time: string) =>
  new Date(time).toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })

/** Capitalizes the first letter of a text, unless the text begins with a URL. */
export const capitalize = (text: string) =>
  text.replace(/^\p{Ll}(?![\w+.-]*:\/\/)/u, letter => letter.toUpperCase())
