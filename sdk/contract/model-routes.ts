import { z } from 'zod'
import { type Routes, withCapacityCheck } from './engine-route.ts'
import { modelName } from './model.ts'
import {
  modelSelection,
  modelShadowAcceptance,
  modelShadowInput,
  modelShadowReport,
  modelSwitch,
  modelUse,
} from './model-upgrade.ts'

const byName = z.object({ name: modelName })

/** The routes of v3 about the models that run for pipelines. */
export const modelRoutes = {
  model: {
    list: {
      method: 'get',
      path: '/models',
      summary: 'List models, and which model runs for the pipelines that name them',
      status: 200,
      response: z.array(modelUse),
      errors: [],
    },

    get: {
      method: 'get',
      path: '/models/{name}',
      summary: 'Get which model runs for the pipelines that name a model',
      params: byName,
      status: 200,
      response: modelUse,
      errors: ['id'],
    },

    use: withCapacityCheck({
      method: 'put',
      path: '/models/{name}',
      summary: 'Select the model that runs for the pipelines that name a model',
      params: byName,
      body: modelSelection,
      status: 200,
      response: modelUse,
      errors: ['syntax', 'id', 'conflict'],
    }),

    switches: {
      method: 'get',
      path: '/models/{name}/switches',
      summary: 'List the switches of a model, by clients and by the engine itself',
      params: byName,
      status: 200,
      response: z.array(modelSwitch),
      errors: ['id'],
    },

    startShadow: {
      method: 'put',
      path: '/models/{name}/shadow',
      summary:
        'Run another model in shadow: on the same frames as the active one, without any effect',
      params: byName,
      body: modelShadowInput,
      status: 200,
      response: modelShadowReport,
      errors: ['syntax', 'id', 'conflict'],
    },

    getShadow: {
      method: 'get',
      path: '/models/{name}/shadow',
      summary: 'Compare the model in shadow with the active one',
      params: byName,
      status: 200,
      response: modelShadowReport,
      errors: ['id'],
    },

    endShadow: {
      method: 'delete',
      path: '/models/{name}/shadow',
      summary: 'End a run of a model in shadow',
      params: byName,
      status: 200,
      response: modelShadowReport,
      errors: ['id'],
    },

    acceptShadow: withCapacityCheck({
      method: 'post',
      path: '/models/{name}/shadow/acceptance',
      summary: 'End a run in shadow, and select its model as the active one',
      params: byName,
      body: modelShadowAcceptance,
      status: 200,
      response: modelUse,
      errors: ['syntax', 'id', 'conflict'],
    }),
  },
} as const satisfies Routes
