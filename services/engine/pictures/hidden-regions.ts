import type { BBox } from '@eyrie/contract/object'
import type { DrawnObject } from './drawing.ts'

/** Whom a picture is not to show. */
export type Blurred = 'faces' | 'persons'

const PERSONS = new Set(['person', 'pedestrian', 'people'])
const FACES = new Set(['face', 'head'])
/** Of a person's box, from its upper edge: where the head is, whatever the person does. */
const HEAD = 1 / 3

/**
 * The regions to hide. Faces are hidden where a model has found them and in the upper third of every person, for no model
 * finds all.
 */
export function hiddenRegions(objects: readonly DrawnObject[], blurred: ReadonlySet<Blurred>): BBox[] {
  return objects.flatMap(({ class: name, bbox }) => {
    if (PERSONS.has(name) && blurred.has('persons')) return [bbox]
    if (blurred.size > 0 && FACES.has(name)) return [bbox]
    return PERSONS.has(name) && blurred.has('faces') ? [{ ...bbox, h: bbox.h * HEAD }] : []
  })
}
