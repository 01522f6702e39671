import { text } from 'node:stream/consumers'
import { expandCalendar } from './expand-calendar.ts'

/**
 * Reads an iCalendar file from standard input, and writes the occurrences of its events between
 * two times, or why it is rejected. A process of its own, because a recurrence rule can need any
 * amount of time and memory.
 */
const [from = '', until = ''] = process.argv.slice(2)

// Warnings of the library would mix with the result.
console.warn = () => {}

function expand(ics: string) {
  try {
    return { events: expandCalendar(ics, new Date(from), new Date(until)) }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

process.stdout.write(JSON.stringify(expand(await text(process.stdin))))
