import { stripVTControlCharacters, styleText } from 'node:util'

/** A stream that a command writes to: a terminal, a file or a pipe. */
export interface Output {
  write(text: string): unknown
  isTTY?: boolean
}

/** The environment in which a command runs. */
export interface Terminal {
  /** The data folder of the appliance, `EYRIE_DATA`. */
  data: string
  /** Environment variables, such as the addresses and tokens of services. */
  environment?: Readonly<Record<string, string | undefined>>
  out: Output
  err: Output
  /** Returns a signal that fires on Ctrl-C. From then on Ctrl-C no longer ends the program. */
  captureInterrupt?(): AbortSignal
}

export type Style = Parameters<typeof styleText>[0]

/** The text in a style on a terminal, and plain text in a file or pipe. */
export const styled = (output: Output, style: Style, text: string) =>
  output.isTTY ? styleText(style, text, { validateStream: false }) : text

/** Formats rows as columns that are as wide as their longest cell. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map(row => printedWidth(row[column] ?? '')))) ?? []
  const formatRow = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - printedWidth(cell)))
      .join('  ')
      .trimEnd()
  return rows.map(row => `${formatRow(row)}\n`).join('')
}

/** The number of columns that a cell occupies. Escape sequences for colours occupy none. */
const printedWidth = (cell: string) => stripVTControlCharacters(cell).length

export const writeJson = (output: Output, value: unknown) => {
  output.write(`${JSON.stringify(value, null, 2)}\n`)
}
