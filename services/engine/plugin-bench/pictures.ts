import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ViewSpec } from '@eyrie/contract/view'
import { createPicture } from '@eyrie/element/testing'
import { createRingFile } from '../frames/ring-file.ts'
import type { RingLocation } from '../frames/ring-reader.ts'

/** The pictures of frames in shared memory, as media provides them. */
export interface Pictures {
  ring: RingLocation
  /** Writes the picture of a frame. */
  write(n: number): void
  close(): void
}

/** Size of the source. */
const SOURCE = { width: 1280, height: 720 }
const SHARED_MEMORY = '/dev/shm'

/**
 * Creates pictures of a view, with noise in them. Throws an `Error` for JPEG, which only media
 * encodes.
 */
export function createPictures(view: ViewSpec): Pictures {
  const { format } = view
  if (format === 'JPEG') {
    throw new Error('pictures in the format JPEG cannot be measured yet: use another format')
  }
  const { width, height } = chooseSize(view)
  const { data } = createPicture({ width, height, format })
  for (let index = 0; index < data.length; index += 1) data[index] = (index * 2_654_435_761) >>> 24

  const folder = mkdtempSync(join(SHARED_MEMORY, 'eyrie-plugin-bench-'))
  const file = createRingFile(join(folder, 'view.ring'), {
    width,
    height,
    format,
    payloadSize: data.length,
  })
  return {
    ring: { path: file.path, generation: file.generation },
    write: n => file.write(n, data),
    close() {
      file.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function chooseSize({ width, height, scale = 1, multiple_of: multipleOf }: ViewSpec): {
  width: number
  height: number
} {
  const roundUp = (length: number) => Math.ceil(length / multipleOf) * multipleOf
  if (width !== undefined && height !== undefined) return { width, height }
  if (width !== undefined) return { width, height: roundUp((width * SOURCE.height) / SOURCE.width) }
  if (height !== undefined) {
    return { width: roundUp((height * SOURCE.width) / SOURCE.height), height }
  }
  return { width: Math.round(SOURCE.width * scale), height: Math.round(SOURCE.height * scale) }
}
