/** Size of the grid, which covers the picture. */
const COLUMNS = 32
const ROWS = 18

/** For how long objects were in each cell of the picture, in seconds. */
export class Grid {
  readonly columns = COLUMNS
  readonly rows = ROWS
  /** By row, then by column. */
  readonly seconds: number[]

  constructor(seconds: number[] = Array(COLUMNS * ROWS).fill(0)) {
    this.seconds = seconds
  }

  /** Adds time at a place in 0..1 of the picture. Places outside count for the nearest cell. */
  add(x: number, y: number, seconds: number): void {
    const toCell = (place: number, cells: number) =>
      Math.min(cells - 1, Math.max(0, Math.floor(place * cells)))
    const index = toCell(y, ROWS) * COLUMNS + toCell(x, COLUMNS)
    this.seconds[index] = this.seconds[index]! + seconds
  }
}

export const createGrid = () => new Grid()

/**
 * Returns the grid of a stored file; undefined if there is none, or if it was stored by a
 * version with another grid.
 */
export function parseGrid(file: Uint8Array | undefined): Grid | undefined {
  if (!file) return undefined
  try {
    const { columns, rows, seconds } = JSON.parse(new TextDecoder().decode(file))
    const isValid =
      columns === COLUMNS &&
      rows === ROWS &&
      Array.isArray(seconds) &&
      seconds.length === COLUMNS * ROWS
    if (!isValid || !seconds.every(Number.isFinite)) return undefined
    // Earlier versions have subtracted time when the stream time began anew.
    return new Grid(seconds.map(cellSeconds => Math.max(0, cellSeconds)))
  } catch {
    return undefined
  }
}

/**
 * Returns the cell with the longest time and its share of all times, 0..1. Cells are counted from
 * 1; all are 0 in an empty grid.
 */
export function findBusiest({ seconds }: Grid): { column: number; row: number; share: number } {
  const total = seconds.reduce((sum, cellSeconds) => sum + cellSeconds, 0)
  const longest = Math.max(...seconds)
  if (longest === 0) return { column: 0, row: 0, share: 0 }
  const index = seconds.indexOf(longest)
  return {
    column: (index % COLUMNS) + 1,
    row: Math.floor(index / COLUMNS) + 1,
    share: longest / total,
  }
}

/**
 * Draws the grid as SVG: the longer the time, the more opaque the cell. The square root keeps
 * brief times visible.
 */
export function drawGrid({ seconds }: Grid): string {
  const longest = Math.max(...seconds)
  const cells = seconds.flatMap((cellSeconds, index) => {
    if (cellSeconds === 0) return []
    const x = index % COLUMNS
    const y = Math.floor(index / COLUMNS)
    const opacity = Math.sqrt(cellSeconds / longest).toFixed(2)
    return [`<rect x="${x}" y="${y}" width="1" height="1" fill="red" fill-opacity="${opacity}"/>`]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${COLUMNS} ${ROWS}">${cells.join('')}</svg>\n`
}
