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
  /** The source that the channel analyses. */
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
  /** Time of the current frame. Use it instead of `Date.now()`. */
  readonly clock: StreamClock
  /** Measurements for operators. */
  readonly metrics: ElementMetrics
  readonly log: Log
}

/**
 * Structured log of the channel, as in `log.info({ count }, 'counted objects')`. Variables belong
 * in `fields`; `message` is constant.
 */
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
   * The view of frames that the element needs. Elements with `"needs": ["pixels"]` receive it as
   * `picture`. Elements that run a detector return the view of the detector.
   */
  readonly view?: ViewSpec
  /** Picture size that the element requests for all following elements. */
  readonly size?: PictureSize
  /** Static data shown with the channel, such as lines and zones. */
  readonly metadata?: Record<string, unknown>
  /**
   * What the element remembers from frame to frame. When new code of a development version replaces
   * the element, it continues with this value. The value must be plain data, and the new code must
   * begin with a state that has the same properties. Elements that define `process` and `state`
   * have this property automatically.
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
  open(context: ContextOf<Args, Config>): Element | Promise<Element>
}

/** The context of an element whose arguments and configuration have these schemas. */
type ContextOf<Args extends z.ZodType, Config extends z.ZodType> = ElementContext<
  z.output<Args>,
  z.output<Config>
>

/** The properties that all definitions of elements have. */
interface ElementSchemas<
  Args extends z.ZodType,
  Config extends z.ZodType,
  Events extends EventSchemas,
> {
  /** Schema of the arguments, which are fixed when a pipeline is created. */
  readonly args: Args
  /** Schema of the configuration, which can be changed while a pipeline runs. */
  readonly config?: Config
  /**
   * The fields of the events that the element reports, by event type. The element can report no
   * events of other types. The event capabilities in the manifest are generated from these schemas.
   */
  readonly events?: Events
  /**
   * Converts arguments of an earlier version of the plugin to arguments of this version, for
   * example when an argument has a new name. Called for all pipelines when the plugin is switched
   * from version `from` to this one.
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

/**
 * The form of definition for elements that open files or models, or have static data. `open`
 * creates the element, which stores its state between frames in variables of its own.
 */
interface OpenForm<Args extends z.ZodType, Config extends z.ZodType, Events extends EventSchemas> {
  open(
    context: ContextOf<Args, Config>,
  ): Element<EventOf<Events>> | Promise<Element<EventOf<Events>>>
  process?: never
}

/**
 * The form of definition for elements that consist of one function. The SDK stores the state
 * between frames and passes it to the function.
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
   * Creates the state of one channel. Called when the channel is opened, and again after each
   * interruption of the stream.
   */
  state?(context: ContextOf<Args, Config>): State
  /** Processes one frame. `process` may change the properties of `context.state`. */
  process(
    frame: Frame,
    context: ContextOf<Args, Config> & {
      readonly state: State
      /** Defined if the manifest declares `"needs": ["pixels"]`. */
      readonly picture: Picture | undefined
    },
  ): FrameResult<EventOf<Events>> | Promise<FrameResult<EventOf<Events>>>
}

/** Element definitions by the element names in the manifest. */
export type PluginDefinition = Record<string, ElementDefinition>

/**
 * Defines an element. The types of arguments, configuration, state and events are inferred. An
 * element has either `open`, or `process` and optionally `state`:
 *
 * ```ts
 * const crowd = defineElement({
 *   args: z.strictObject({ limit: z.int().min(0).default(10) }),
 *   events: { crowd: z.object({ count: z.int() }) },
 *   state: () => ({ isCrowded: false }),
 *
 *   process({ objects }, { args, state }) {
 *     const wasCrowded = state.isCrowded
 *     state.isCrowded = objects.length > args.limit
 *     if (!state.isCrowded || wasCrowded) return {}
 *     return { events: [{ type: 'crowd', count: objects.length }] }
 *   },
 * })
 * ```
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
          // The old state describes objects from before the interruption.
          if (frame.discontinuity && createState) element.state = createState(context)
          return process(frame, { ...context, state: element.state as State, picture })
        },
      }
      return element
    },
  }
}

/**
 * Defines the elements of a plugin by name, as in `export default definePlugin({ crowd })`. The
 * entry module of a plugin must export the result as its default. Returns the elements unchanged.
 */
export function definePlugin<Elements extends PluginDefinition>(elements: Elements): Elements {
  return elements
}
