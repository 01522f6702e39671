import { z } from 'zod'

/**
 * A message from a service to its supervisor: text that is printed for the operator, but not
 * logged, because it is secret.
 */
export const terminalNotice = z.strictObject({ terminal_notice: z.string() })

/** Asks the supervisor to print the text. Without a supervisor, nothing is printed. */
export function sendTerminalNotice(text: string): void {
  process.send?.({ terminal_notice: text } satisfies z.input<typeof terminalNotice>)
}
