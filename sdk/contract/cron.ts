import { CronPattern } from 'croner'

/**
 * The options with which Croner parses all expressions. `sloppyRanges` permits steps such as `/10`
 * and `5/5`, as other programs do.
 */
export const CRON_OPTIONS = { mode: '5-part', sloppyRanges: true } as const

const PLAIN_CRON_FIELD = /^(?:[-,*/\d]|[a-z]{3})+$/i

/**
 * Returns what is wrong with a cron expression, if anything. It must have the five fields of
 * cron(8). The extensions of the parser, Croner, are rejected: seconds, `@daily`, `L` and `#`.
 */
export function findCronError(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/)
  if (fields.length !== 5 || !fields.every(field => PLAIN_CRON_FIELD.test(field))) {
    return 'must be a cron expression with five fields: minute, hour, day of the month, month, day of the week'
  }

  try {
    // The constructor throws if the expression is invalid.
    new CronPattern(fields.join(' '), undefined, CRON_OPTIONS)
    return undefined
  } catch (error) {
    const reason = (error as Error).message.replace(/^CronPattern: /, '')
    return `is not a valid cron expression: ${reason}`
  }
}
