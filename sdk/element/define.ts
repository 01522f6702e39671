import type { EventData } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'
import type { z } from 'zod'
import type { StreamClock } from './clock.ts'
import type { EventOf, EventSchemas } from './event-schemas.ts'
import type { Frame, FrameResult, Picture } from './frame.ts'
import type { ElementFetch, ElementStorage } from './granted.ts'
import type { ElementInfer } from './infer.ts'
import type { Inference, PictureSize } from './inference.ts'
import type { ElementMetrics } from './metrics.ts'

/** Everything an element receives when a channel opens it. */
export interface ElementContext<Args, Config> {
  /** Arguments from the pipeline. The `args` schema has validated them and added defaults. */
  readonly args: Args
  /**
   * Configuration from the pipeline, validated by the `config` schema. Undefined if the pipeline
   * has no configuration.
   */
  readonly config: Config | undefined
  readonly source: { readonly id: number }
  /** Picture size that an earlier element of the pipeline, such as `image-resize`, requests. */
  readonly size: PictureSize | undefined
  /** Defined if the manifest declares `"needs": ["inference"]`. */
  readonly inference: Inference | undefined
  /** Runs the models that the manifest declares in `capabilities.inference`. */
  readonly infer: ElementInfer
  /**
   * Sends requests to the servers that the manifest declares. Defined for elements
   * of uploaded plugins.
   */
  readonly fetch?: ElementFetch | undefined
  /** Files of the element on this channel. Defined for elements of uploaded plugins. */
  readonly storage?: ElementStorage | undefined
  readonly clock: StreamClock
  readonly metrics: ElementMetrics
  readonly log: Log
}

/** Structured log of the channel. Variables belong in `fields`; `message` is constant. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * An element running in one channel.
 *
 * Frames arrive in order, one at a time: the next call of `process` waits for the previous
 * one to finish. Elements whose manifest declares `"stateless": true` may receive several
 * frames concurrently.
 */
export interface Element<Event extends EventData = EventData> {
  /**
   * The view of frames that `process` needs (if the manifest declares `"needs": ["pixels"]`) or
   * that its detector needs.
   */
  readonly view?: ViewSpec
  /** Picture size requested for all following elements. */
  readonly size?: PictureSize
  /** Static data shown with the channel, such as lines and zones. */
  readonly metadata?: Record<string, unknown>
  /**
   * What the element remembers from frame to frame. New code of a development version continues
   * with it, if it is plain data and begins with the same properties. `defineElement` provides it
   * for elements that define `state`.
   */
  state?: unknown
  /**
   * Processes one frame. An element that throws is closed and opened again; other
   * channels are not affected.
   *
   * @param picture Defined if the manifest declares `"needs": ["pixels"]`.
   */
  process(frame: Frame, picture?: Picture): FrameResult<Event> | Promise<FrameResult<Event>>
  /** Releases resources that the garbage collector does not. */
  close?(): void
}

/**
 * An element as a plugin declares it. The JSON Schemas in plugin.json are generated
 * from its zod schemas.
 */
export interface ElementDefinition<
  Args extends z.ZodType = z.ZodType,
  Config extends z.ZodType = z.ZodType,
> extends ElementSchemas<Args, Config, EventSchemas> {
  /**
   * Creates the element for one channel. An exception fails the channel with the error's
   * message as its reason.
   */
  open(context: ElementContext<z.output<Args>, z.output<Config>>): Element | Promise<Element>
}

interface ElementSchemas<
  Args extends z.ZodType,
  Config extends z.ZodType,
  Events extends EventSchemas,
> {
  readonly args: Args
  readonly config?: Config
  /**
   * The fields of the events that the element reports, by event type. The element can report no
   * others, and the capabilities in the manifest are generated from it.
   */
  readonly events?: Events
  /**
   * Returns arguments that were valid in version `from` of the plugin as this version accepts
   * them, for example with a new name. Called for all pipelines when the plugin is switched
   * from an earlier version.
   */
  migrate?(args: Record<string, unknown>, from: string): Record<string, unknown>
  /**
   * The parts of a frame that the element reads. Documentation for the catalog;
   * frames are not validated.
   */
  readonly input?: z.ZodType
  /**
   * The parts of a frame that the element adds. Documentation for the catalog;
   * results are not validated.
   */
  readonly output?: z.ZodType
}

/** An element whose `open` creates it, with variables of its own between frames. */
interface OpenForm<Args extends z.ZodType, Config extends z.ZodType, Events extends EventSchemas> {
  open(
    context: ElementContext<z.output<Args>, z.output<Config>>,
  ): Element<EventOf<Events>> | Promise<Element<EventOf<Events>>>
  process?: never
}

/**
 * An element that is no more than a function, with a state between frames that the SDK maintains.
 */
interface ProcessForm<
  Args extends z.ZodType,
  Config extends z.ZodType,
  Events extends EventSchemas,
  State,
> {
  open?: never
  /** The view of frames that `process` needs, if the manifest declares `"needs": ["pixels"]`. */
  readonly view?: ViewSpec
  /**
   * Creates the state of one channel: when the channel is opened, and again after each
   * interruption of the stream.
   */
  state?(context: ElementContext<z.output<Args>, z.output<Config>>): State
  process(
    frame: Frame,
    context: ElementContext<z.output<Args>, z.output<Config>> & {
      readonly state: State
      /** Defined if the manifest declares `"needs": ["pixels"]`. */
      readonly picture: Picture | undefined
    },
  ): FrameResult<EventOf<Events>> | Promise<FrameResult<EventOf<Events>>>
}

/** Element definitions by the element names in the manifest. */
export type PluginDefinition = Record<string, ElementDefinition>

/**
 * Returns the definition of an element. The types of arguments, configuration, state and events are
 * inferred from it. An element has either `open`, or `process` and optionally `state`.
 */
export function defineElement<
  Args extends z.ZodType,
  Config extends z.ZodType = z.ZodType,
  Events extends EventSchemas = EventSchemas,
  State = undefined,
>(
  definition: ElementSchemas<Args, Config, Events> &
    (OpenForm<Args, Config, Events> | ProcessForm<Args, Config, Events, State>),
): ElementDefinition<Args, Config> {
  if (definition.open) return definition
  const { view, state: createState, process, ...schemas } = definition
  return {
    ...schemas,
    open(context) {
      const element: Element = {
        ...(view && { view }),
        ...(createState && { state: createState(context) }),
        process(frame, picture) {
          if (frame.discontinuity && createState) element.state = createState(context)
          return process(frame, { ...context, state: element.state as State, picture })
        },
      }
      return element
    },
  }
}

/** Returns the elements unchanged. The result is the default export of a plugin's entry module. */
export function definePlugin<Elements extends PluginDefinition>(elements: Elements): Elements {
  return elements
}
