import type { BBox } from '@eyrie/contract/object'
import type { DrawnObject } from './drawing.ts'

/** What to blur in a picture. */
export type BlurTarget = 'faces' | 'persons'

const PERSON_CLASSES = new Set(['person', 'pedestrian', 'people'])
const FACE_CLASSES = new Set(['face', 'head'])
/** The head is in the upper part of a person's box in any posture. */
const HEAD_SHARE = 1 / 3

/**
 * The regions to hide. Faces are hidden where a model detected them and also in the upper third of every person, since no
 * model detects all faces.
 */
export function findHiddenRegions(objects: readonly DrawnObject[], targets: ReadonlySet<BlurTarget>): BBox[] {
  return objects.flatMap(({ class: name, bbox }) => {
    if (PERSON_CLASSES.has(name) && targets.has('persons')) return [bbox]
    if (PERSON_CLASSES.has(name) && targets.has('faces')) return [{ ...bbox, h: bbox.h * HEAD_SHARE }]
    if (FACE_CLASSES.has(name) && targets.size > 0) return [bbox]
    return []
  })
}
