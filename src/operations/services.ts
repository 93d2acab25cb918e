// What operations and reads work with, all together: the endpoint table hands it to each, which takes its part.

import type { CoreServices } from './operation.ts'
import type { RealtimeServices } from './realtime/request.ts'
import type { ResponseServices } from './responses/operation.ts'
import type { BeginRooms } from './videos/begin.ts'
import type { VideoRooms } from './videos/read.ts'

/** Replaced whole when the configuration changes. */
export interface Services extends CoreServices {
  readonly responses: ResponseServices
  readonly realtime: RealtimeServices
  readonly videos: VideoRooms & { readonly begin: BeginRooms }
}
