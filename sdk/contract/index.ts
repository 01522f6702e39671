// The contract between the services and their clients: schemas and routes of the engine API, and of
// the internal connections.

// The engine API: its routes, and what they have in common

export * from './activation.ts'
export * from './capacity.ts'
export * from './engine-route.ts'
export * from './errors.ts'
export * from './ids.ts'
export * from './parameters.ts'
export * from './parse.ts'
export * from './routes-v2.ts'
export * from './routes-v3.ts'
export * from './schemas-v2.ts'

// The configuration of an engine

export * from './address.ts'
export * from './camera.ts'
export * from './catalog.ts'
export * from './configuration.ts'
export * from './exports.ts'
export * from './pipeline.ts'
export * from './recording.ts'
export * from './sink.ts'
export * from './source.ts'

// The output of an engine

export * from './object.ts'
export * from './output.ts'
export * from './output-connection.ts'

// Models and plugins

export * from './model.ts'
export * from './model-upgrade.ts'
export * from './plugin.ts'
export * from './plugin-grant.ts'
export * from './plugin-inference.ts'
export * from './plugin-signature.ts'
export * from './plugin-trust.ts'
export * from './plugin-upgrade.ts'
export * from './requested-capability.ts'
export * from './sdk-version.ts'

// The state of the services

export * from './condition.ts'
export * from './health.ts'
export * from './picture-statistics.ts'
export * from './statistics.ts'

// Video between the media service and the engine, and live streams

export * from './live-stream.ts'
export * from './media.ts'
export * from './ring.ts'
export * from './ticks.ts'
export * from './view.ts'

// The settings of the appliance, and the console

export * from './console-api.ts'
export * from './settings.ts'
