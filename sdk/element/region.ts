import { point } from '@eyrie/contract/object'
import { z } from 'zod'

/** The part of an object's box that stands for the object. */
export const region = z.enum(['center', 'bottom', 'top', 'left', 'right', 'box'])
export type Region = z.infer<typeof region>

const namedOnce = <T extends { name: string }>(shapes: T[]) =>
  new Set(shapes.map(shape => shape.name)).size === shapes.length

const shapes = (least: number) =>
  z
    .array(z.strictObject({ name: z.string().min(1).max(200), coords: z.array(point).min(least).max(200) }))
    .refine(namedOnce, { error: 'names must be unique' })

/** Lines of two or more points; standing at the first and looking to the last, left to right is up. */
export const lines = shapes(2)

/** Zones: polygons of three or more points. */
export const zones = shapes(3)
