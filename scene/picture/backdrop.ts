import type { Layout } from '../street/layout.ts'
import type { Triangle } from '../street/triangles.ts'
import type { Camera } from './camera.ts'
import type { ShadowMap } from './shadow-map.ts'

/** Samples per pixel along each axis. */
export const SUPERSAMPLING = 2

/**
 * The picture of the standing world, twice: in full sunlight and in shade, so that clouds and moving
 * shadows only mix the two. `fine` buffers hold SUPERSAMPLING² samples a pixel, `coarse` whole pixels.
 */
export interface Backdrop {
  fineLit: Uint8Array
  fineShaded: Uint8Array
  coarseLit: Uint8Array
  coarseShaded: Uint8Array
  /** 1/distance of each fine sample; 0 in the sky. */
  depth: Float32Array
  /** 1 where a fine sample shows the ground, on which moving shadows fall. */
  isGround: Uint8Array
}

/** A backdrop over shared memory, for threads to fill band by band. */
export function createBackdrop(width: number, height: number): Backdrop {
  const pixels = width * height
  const samples = pixels * SUPERSAMPLING * SUPERSAMPLING
  const bytes = (length: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(length))
  return {
    fineLit: bytes(samples * 3),
    fineShaded: bytes(samples * 3),
    coarseLit: bytes(pixels * 3),
    coarseShaded: bytes(pixels * 3),
    depth: new Float32Array(new SharedArrayBuffer(samples * 4)),
    isGround: bytes(samples),
  }
}

export interface World {
  layout: Layout
  camera: Camera
  triangles: readonly Triangle[]
  shadows: ShadowMap
}
