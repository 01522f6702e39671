import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Terminal } from './terminal.ts'

/** Whether somebody can answer questions. */
export const isInteractive = ({ input }: Terminal) => input?.isTTY === true

/**
 * Asks a question, and returns whether the answer is yes. The signal answers no. Only for
 * interactive terminals.
 */
export async function confirm(
  { input, err }: Terminal,
  question: string,
  signal?: AbortSignal,
): Promise<boolean> {
  err.write(`${question} [y/N] `)
  // The terminal itself shows what is typed.
  const reader = createInterface({ input: input!, terminal: false, ...(signal && { signal }) })
  const line = once(reader, 'line').then(([answer]) => String(answer))
  const end = once(reader, 'close').then(() => '')
  try {
    return /^y(es)?$/i.test((await Promise.race([line, end])).trim())
  } finally {
    reader.close()
  }
}
