import type { EventData } from '@eyrie/contract/object'
import type { z } from 'zod'

/** The fields of events by event type, such as `{ crowd: z.object({ count: z.int() }) }`. */
export type EventSchemas = Readonly<Record<string, z.ZodObject>>

/** The fields that all events may have. */
type CommonFields = Pick<EventData, 'name' | 'direction' | 'track' | 'class' | 'bbox'>

/** The events that an element reports: those of its schemas, or any if it declares none. */
export type EventOf<Events extends EventSchemas> = string extends keyof Events
  ? EventData
  : {
      [Type in keyof Events & string]: CommonFields & OwnFields<Events[Type]> & { type: Type }
    }[keyof Events & string]

/** The type of an object without fields would exclude the common fields, too. */
type OwnFields<Schema extends z.ZodObject> = keyof Schema['shape'] extends never
  ? unknown
  : z.input<Schema>
