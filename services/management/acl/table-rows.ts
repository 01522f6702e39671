import { EyrieError } from '@eyrie/contract'
import { parse } from 'csv-parse/sync'
import { readSheet } from 'read-excel-file/node'
import { fieldError } from '../errors/field-errors.ts'
import { uncompressZip } from './uncompressed-zip.ts'

const MAX_FILE_BYTES = 1024 * 1024
const MAX_UNPACKED_BYTES = 8 * MAX_FILE_BYTES
const MAX_ROWS = 10_000
/** An .xlsx file is a zip file, which starts with these bytes. */
const ZIP_SIGNATURE = Buffer.from('PK\x03\x04', 'latin1')

/** A row of the module file, a table of the modules and components of the user interface. */
export interface Row {
  /** Number of the row in a spreadsheet, from 1. */
  number: number
  cells: string[]
}

/**
 * Returns the rows of a CSV or .xlsx file that are not empty, with trimmed cells. The content
 * determines the format. The value of a formula is the result that the spreadsheet program stored.
 * Throws `EyrieError`: `size` if the file is too large, `syntax` if it is in neither format.
 */
export async function parseRows(file: Buffer): Promise<Row[]> {
  if (file.length > MAX_FILE_BYTES) throw new EyrieError('size', 'modulefile: is larger than 1 MiB')
  const isZip = file.subarray(0, ZIP_SIGNATURE.length).equals(ZIP_SIGNATURE)
  const table = isZip ? await parseXlsx(file) : parseCsv(file)
  if (table.length > MAX_ROWS) throw fieldError('modulefile', `has more than ${MAX_ROWS} rows`)
  return table
    .map((cells, index) => ({ number: index + 1, cells: cells.map(cell => cell.trim()) }))
    .filter(({ cells }) => cells.some(cell => cell !== ''))
}

async function parseXlsx(file: Buffer): Promise<string[][]> {
  const uncompressed = await uncompressXlsx(file)
  try {
    const sheet = await readSheet(uncompressed)
    return sheet.map(row => row.map(cell => (cell === null ? '' : String(cell))))
  } catch (cause) {
    throw fieldError('modulefile', `is not a valid .xlsx file: ${(cause as Error).message}`, {
      cause,
    })
  }
}

/**
 * Protects the .xlsx parser from zip bombs: it has no limit of its own when it
 * decompresses entries.
 */
async function uncompressXlsx(file: Buffer): Promise<Buffer> {
  try {
    return await uncompressZip(file, MAX_UNPACKED_BYTES)
  } catch (cause) {
    throw fieldError('modulefile', `cannot be unpacked as .xlsx: ${(cause as Error).message}`, {
      cause,
    })
  }
}

function parseCsv(file: Buffer): string[][] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(file)
    return parse(text, {
      bom: true,
      relax_column_count: true,
      skip_empty_lines: false,
      to: MAX_ROWS + 1,
    })
  } catch (cause) {
    const reason = `is neither CSV in UTF-8 nor .xlsx: ${(cause as Error).message}`
    throw fieldError('modulefile', reason, { cause })
  }
}
