import { EyrieError } from '@eyrie/contract'
import { parse } from 'csv-parse/sync'
import { readSheet } from 'read-excel-file/node'
import { fieldError } from '../errors/field-errors.ts'
import { uncompressZip } from './uncompressed-zip.ts'

const MAX_FILE_BYTES = 1 << 20
const MAX_UNPACKED_BYTES = 8 << 20
const MAX_ROWS = 10_000
const ZIP_SIGNATURE = Buffer.from('PK\x03\x04', 'latin1')

/** A row of a table. */
export interface Row {
  /** Starts at 1, as in a spreadsheet. */
  number: number
  cells: string[]
}

/**
 * Parses a table in CSV or .xlsx, detected by its content. For a cell with a formula it returns the stored value. Throws
 * `EyrieError`: `size` for a file that is too large, `syntax` if it is not a table.
 */
export async function parseRows(file: Buffer): Promise<Row[]> {
  if (file.length > MAX_FILE_BYTES) throw new EyrieError('size', 'modulefile: is larger than 1 MiB')
  const isZip = file.subarray(0, ZIP_SIGNATURE.length).equals(ZIP_SIGNATURE)
  const table = isZip ? await parseXlsx(file) : parseCsv(file)
  if (table.length > MAX_ROWS) throw fieldError('modulefile', `has more than ${MAX_ROWS} rows`)
  return table
    .map((cells, n) => ({ number: n + 1, cells: cells.map(cell => cell.trim()) }))
    .filter(({ cells }) => cells.some(cell => cell !== ''))
}

async function parseXlsx(file: Buffer): Promise<string[][]> {
  const uncompressed = await uncompressZip(file, MAX_UNPACKED_BYTES)
  try {
    const sheet = await readSheet(uncompressed)
    return sheet.map(row => row.map(cell => (cell === null ? '' : String(cell))))
  } catch (cause) {
    throw fieldError('modulefile', `is not a valid .xlsx file: ${(cause as Error).message}`, { cause })
  }
}

function parseCsv(file: Buffer): string[][] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(file)
    return parse(text, { bom: true, relax_column_count: true, skip_empty_lines: false, to: MAX_ROWS + 1 })
  } catch (cause) {
    const reason = `is neither CSV in UTF-8 nor .xlsx: ${(cause as Error).message}`
    throw fieldError('modulefile', reason, { cause })
  }
}
