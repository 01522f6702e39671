import type { ViewSpec } from '@eyrie/contract/view'
import type { z } from 'zod'
import type { Frame, FrameResult, Picture } from './frame.ts'
import type { ElementFetch, ElementStorage } from './granted.ts'
import type { Inference, PictureSize } from './inference.ts'

/** Everything an element receives when a channel opens it. */
export interface ElementContext<Args, Config> {
  /** Arguments from the pipeline. The `args` schema has validated them and added defaults. */
  readonly args: Args
  /** Configuration from the pipeline, validated by the `config` schema. Undefined if the pipeline has no configuration. */
  readonly config: Config | undefined
  readonly source: { readonly id: number }
  /** Picture size that an earlier element of the pipeline, such as `image-resize`, requests. */
  readonly size: PictureSize | undefined
  /** Defined if the manifest declares `"needs": ["inference"]`. */
  readonly inference: Inference | undefined
  /** Sends requests to the servers that the manifest declares. Defined for elements of uploaded plugins. */
  readonly fetch?: ElementFetch | undefined
  /** Files of the element on this channel. Defined for elements of uploaded plugins. */
  readonly storage?: ElementStorage | undefined
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
 * Frames arrive in order, one at a time: the next call of `process` waits for the previous one to finish. Elements
 * whose manifest declares `"stateless": true` may receive several frames concurrently.
 */
export interface Element {
  /** The view of frames that `process` needs (if the manifest declares `"needs": ["pixels"]`) or that its detector needs. */
  readonly view?: ViewSpec
  /** Picture size requested for all following elements. */
  readonly size?: PictureSize
  /** Static data shown with the channel, such as lines and zones. */
  readonly metadata?: Record<string, unknown>
  /**
   * Processes one frame. An element that throws is closed and opened again; other channels are not affected.
   *
   * @param picture Defined if the manifest declares `"needs": ["pixels"]`.
   */
  process(frame: Frame, picture?: Picture): FrameResult | Promise<FrameResult>
  /** Releases resources that the garbage collector does not. */
  close?(): void
}

/** An element as a plugin declares it. The JSON Schemas in plugin.json are generated from its zod schemas. */
export interface ElementDefinition<Args extends z.ZodType = z.ZodType, Config extends z.ZodType = z.ZodType> {
  readonly args: Args
  readonly config?: Config
  /** The parts of a frame that the element reads. Documentation for the catalog; frames are not validated. */
  readonly input?: z.ZodType
  /** The parts of a frame that the element adds. Documentation for the catalog; results are not validated. */
  readonly output?: z.ZodType
  /** Creates the element for one channel. An exception fails the channel with the error's message as its reason. */
  open(context: ElementContext<z.output<Args>, z.output<Config>>): Element | Promise<Element>
}

/** Element definitions by the element names in the manifest. */
export type PluginDefinition = Record<string, ElementDefinition>

/** Returns the definition unchanged. The types of `args` and `config` in `open` are inferred from the schemas. */
export function defineElement<Args extends z.ZodType, Config extends z.ZodType>(
  definition: ElementDefinition<Args, Config>,
): ElementDefinition<Args, Config> {
  return definition
}

/** Returns the elements unchanged. The result is the default export of a plugin's entry module. */
export function definePlugin<Elements extends PluginDefinition>(elements: Elements): Elements {
  return elements
}
