const TILE_SIZE_PX = 16

// States of a tile. `SHADOWED` and `COVERED` can be combined.
export const CLEAN = 0
export const SHADOWED = 1
export const COVERED = 2

/** Horizontally adjacent tiles of the same state, in pixels. */
export interface Span {
  left: number
  right: number
  top: number
  bottom: number
  /** `CLEAN`, or a combination of the bits `SHADOWED` and `COVERED`. */
  state: number
}

/**
 * Tracks which tiles a frame draws to. Clean tiles need no clearing and no per-sample composition.
 */
export class DirtyTiles {
  readonly #width: number
  readonly #height: number
  readonly #columns: number
  readonly #rows: number
  readonly #state: Uint8Array

  constructor(width: number, height: number) {
    this.#width = width
    this.#height = height
    this.#columns = Math.ceil(width / TILE_SIZE_PX)
    this.#rows = Math.ceil(height / TILE_SIZE_PX)
    this.#state = new Uint8Array(this.#columns * this.#rows)
  }

  /** Adds a state to all tiles in a rectangle of pixels. */
  mark(left: number, top: number, right: number, bottom: number, state: number): void {
    const x0 = Math.max(0, Math.floor(left / TILE_SIZE_PX))
    const x1 = Math.min(this.#columns - 1, Math.floor(right / TILE_SIZE_PX))
    const y0 = Math.max(0, Math.floor(top / TILE_SIZE_PX))
    const y1 = Math.min(this.#rows - 1, Math.floor(bottom / TILE_SIZE_PX))
    for (let y = y0; y <= y1; y++) {
      for (let x = x0; x <= x1; x++) this.#state[y * this.#columns + x]! |= state
    }
  }

  /** Yields spans that cover the whole picture, row by row. */
  *spans(): Generator<Span> {
    for (let row = 0; row < this.#rows; row++) {
      let from = 0
      while (from < this.#columns) {
        const state = this.#state[row * this.#columns + from]!
        let to = from + 1
        while (to < this.#columns && this.#state[row * this.#columns + to] === state) to++
        yield {
          left: from * TILE_SIZE_PX,
          right: Math.min(this.#width, to * TILE_SIZE_PX),
          top: row * TILE_SIZE_PX,
          bottom: Math.min(this.#height, (row + 1) * TILE_SIZE_PX),
          state,
        }
        from = to
      }
    }
  }

  clear(): void {
    this.#state.fill(CLEAN)
  }
}
