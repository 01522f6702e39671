/**
 * Returns the local date for which a daily summary is due: today's, if the local time has passed
 * `summaryTime` (HH:MM), otherwise yesterday's. A summary is due when this date is later than
 * that of the last one.
 */
export function findSummaryDate(nowMs: number, summaryTime: string, timezone: string): string {
  const [date, time] = formatLocal(nowMs, timezone)
  return time >= summaryTime ? date : previousDate(date)
}

/** Returns the local date as YYYY-MM-DD, and the local time as HH:MM. */
function formatLocal(ms: number, timeZone: string): [string, string] {
  const options = { timeZone, dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' } as const
  // Swedish writes dates as in ISO 8601.
  const [date = '', time = ''] = new Intl.DateTimeFormat('sv', options).format(ms).split(' ')
  return [date, time]
}

function previousDate(date: string): string {
  const day = new Date(`${date}T00:00:00Z`)
  day.setUTCDate(day.getUTCDate() - 1)
  return day.toISOString().slice(0, 10)
}
