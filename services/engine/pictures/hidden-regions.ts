import type { BBox } from '@eyrie/contract/object'
import type { DrawnObject } from './drawing.ts'

/** The kinds of objects that are blurred in pictures, to protect the privacy of people. */
export type BlurTarget = 'faces' | 'persons'

const PERSON_CLASSES = new Set(['person', 'pedestrian', 'people'])
const FACE_CLASSES = new Set(['face', 'head'])
/** In any posture, the head is in the upper third of the person's box. */
const HEAD_SHARE = 1 / 3

/**
 * Returns the regions of a picture to blur. For faces, this includes the upper third of every
 * person, because no model detects all faces.
 */
export function findHiddenRegions(
  objects: readonly DrawnObject[],
  targets: ReadonlySet<BlurTarget>,
): BBox[] {
  return objects.flatMap(({ class: name, bbox }) => {
    const isPerson = PERSON_CLASSES.has(name)
    if (isPerson && targets.has('persons')) return [bbox]
    if (isPerson && targets.has('faces')) return [{ ...bbox, h: bbox.h * HEAD_SHARE }]

    const isFace = FACE_CLASSES.has(name)
    return isFace && targets.size > 0 ? [bbox] : []
  })
}
