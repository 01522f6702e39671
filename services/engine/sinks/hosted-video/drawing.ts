import type { Shape } from '@eyrie/contract/exports'
import type { Drawing } from '@eyrie/contract/media'
import type { DetectedObject } from '@eyrie/contract/object'

/** What a picture shows of an object. */
export type DrawnObject = Pick<DetectedObject, 'class' | 'track' | 'bbox'>

/** What is to be seen of a frame's results in its picture. */
export function drawingOf(objects: readonly DrawnObject[], shapes: Shape[]): Drawing {
  return {
    objects: objects.map(({ class: name, track, bbox }) => ({
      bbox,
      label: track === undefined ? name : `${name} ${track}`,
      colour: name,
    })),
    shapes,
  }
}
