import { type BBox, defineElement, definePlugin, type Point, point, z } from '@eyrie/element'

/** An object that is not detected for this long has left the zone. */
const GRACE_S = 2

const zone = z.strictObject({ name: z.string().min(1), coords: z.array(point).min(3) })

/** The zones have different names, because the counters and events of a zone have its name. */
const zones = z
  .array(zone)
  .refine(shapes => new Set(shapes.map(({ name }) => name)).size === shapes.length, {
    error: 'names must be unique',
  })
  // JSON Schema cannot express this. The engine implements this keyword for it.
  .meta({ description: 'Polygons in 0..1 of the picture', uniqueItemProperties: ['name'] })

interface Stay {
  since: number
  /** When the object was last detected in the zone. */
  lastSeen: number
  isReported: boolean
}

/** Reports each tracked object that stays in a zone for too long, once per stay. */
const dwellAlarm = defineElement({
  args: z.strictObject({
    seconds: z
      .number()
      .positive()
      .default(30)
      .meta({ description: 'Time after which a stay is reported' }),
    class: z.string().optional().meta({ description: 'Class of the objects; all by default' }),
  }),
  config: z.strictObject({ zones }),
  events: {
    'dwell-alarm': z.object({ dwell_seconds: z.number() }),
  },

  open({ args, config = { zones: [] }, clock }) {
    const watchedZones = config.zones.map(zone => ({ ...zone, stays: new Stays(), alarms: 0 }))
    return {
      // The live view draws zones that an element has in its metadata.
      metadata: { zones: config.zones },

      process({ objects, discontinuity }) {
        const now = clock.seconds
        const events = []
        for (const zone of watchedZones) {
          if (discontinuity) zone.stays.clear()
          for (const { track, class: label, bbox } of objects) {
            if (track === undefined || (args.class !== undefined && args.class !== label)) continue
            if (!isInside(getFoot(bbox), zone.coords)) continue
            const stay = zone.stays.update(track, now)
            const dwellSeconds = now - stay.since
            if (stay.isReported || dwellSeconds <= args.seconds) continue
            stay.isReported = true
            zone.alarms += 1
            const type = 'dwell-alarm' as const
            events.push({
              type,
              name: zone.name,
              track,
              class: label,
              bbox,
              dwell_seconds: dwellSeconds,
            })
          }
          // Last, because frames may be farther apart: an object in both of them has not left.
          zone.stays.expire(now - GRACE_S)
        }
        const counters = watchedZones.map(({ name, stays, alarms }) => [
          name,
          { inside: stays.count, alarms },
        ])
        return { events, counters: Object.fromEntries(counters) }
      },
    }
  },
})

/** The stays of tracked objects in one zone. Times are in seconds of stream time. */
class Stays {
  readonly #stays = new Map<number, Stay>()

  get count(): number {
    return this.#stays.size
  }

  clear(): void {
    this.#stays.clear()
  }

  /** Deletes the stays of objects that were last detected in the zone before a time. */
  expire(before: number): void {
    for (const [track, { lastSeen }] of this.#stays) {
      if (lastSeen < before) this.#stays.delete(track)
    }
  }

  /** Continues the stay of an object that is in the zone, or begins it. */
  update(track: number, now: number): Stay {
    const stay = this.#stays.get(track) ?? { since: now, lastSeen: now, isReported: false }
    stay.lastSeen = now
    this.#stays.set(track, stay)
    return stay
  }
}

/**
 * Returns the middle of the lower edge of a box, where the object touches the ground. The foot of
 * an object that the lower edge of the picture cuts off is just inside of the picture.
 */
const getFoot = ({ x, y, w, h }: BBox): Point => ({
  x: x + w / 2,
  y: Math.min(y + h, 1 - Number.EPSILON),
})

/**
 * Returns whether a polygon winds around a point: its sides that cross a ray from the point to the
 * right do not cancel each other out, one up and one down.
 */
function isInside({ x, y }: Point, polygon: readonly Point[]): boolean {
  let windings = 0
  let from = polygon.at(-1)!
  for (const to of polygon) {
    const crosses = from.y > y !== to.y > y
    if (crosses && x < from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x)) {
      windings += to.y > from.y ? 1 : -1
    }
    from = to
  }
  return windings !== 0
}

export default definePlugin({ 'dwell-alarm': dwellAlarm })
