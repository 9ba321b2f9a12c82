from ._answer import Answer as Answer
from ._answering import (
    DEPLOYMENTS as DEPLOYMENTS,
    NOT_TOLD as NOT_TOLD,
    asked_name as asked_name,
    is_deployment as is_deployment,
    same_model as same_model,
)
from ._batches.batch_job import (
    Job as Job,
    JobCall as JobCall,
    JobJournal as JobJournal,
    PendingError as PendingError,
)
from ._batches.desk import Batches as Batches
from ._chat import (
    ChatModel as ChatModel,
    Message as Message,
    ModelError as ModelError,
    Reply as Reply,
    Request as Request,
)
from ._embedded.embedded import EmbeddedModel as EmbeddedModel
from ._embedded.weights import EMBEDDED as EMBEDDED
from ._embedded.weights import pull_weights as pull_weights, weights_file as weights_file
from ._endpoint_check import EndpointCheck as EndpointCheck, check_endpoint as check_endpoint
from ._finish import Finish as Finish, why_unfinished as why_unfinished
from ._gate.audit import AuditLog as AuditLog
from ._gate.audit_chain import (
    AuditError as AuditError,
    AuditTotals as AuditTotals,
    audit_replies as audit_replies,
    audit_totals as audit_totals,
    entry_hash as entry_hash,
    verify_audit_log as verify_audit_log,
)
from ._gate.budget import Budget as Budget, Reservation as Reservation
from ._gate.cache import (
    SECRET_BYTES as SECRET_BYTES,
    MemoryCache as MemoryCache,
    ReplyCache as ReplyCache,
    request_key as request_key,
)
from ._gate.context import (
    ContextError as ContextError,
    clearly_too_long as clearly_too_long,
    excess_tokens as excess_tokens,
    require_fit as require_fit,
)
from ._gate.context_windows import context_window as context_window
from ._gate.gate import Gate as Gate
from ._gate.limits import Limits as Limits, Pace as Pace
from ._gate.request_log import RequestLog as RequestLog
from ._gate.stopping import StoppedError as StoppedError
from ._hosts import forbidden as forbidden, host_of as host_of, is_local as is_local, normal_hosts as normal_hosts
from ._in_process.bits import (
    loading_options as loading_options,
    refuse_bits_without_libraries as refuse_bits_without_libraries,
    split_bits as split_bits,
)
from ._in_process.folder import folder_fingerprint as folder_fingerprint
from ._in_process.transformers_model import TransformersModel as TransformersModel
from ._in_process.vllm_model import VllmModel as VllmModel
from ._in_process.weights import (
    quiet_library as quiet_library,
    read_whole as read_whole,
    reading_weights as reading_weights,
    refuse_pickled as refuse_pickled,
)
from ._openai.openai import OpenAIModel as OpenAIModel
from ._prices import Price as Price, PriceList as PriceList
from ._recorded.answer_file import (
    AnswerFile as AnswerFile,
    RecordedAs as RecordedAs,
    RecordedFailure as RecordedFailure,
    write_answers as write_answers,
)
from ._recorded.failure import failure_of as failure_of, failure_text as failure_text
from ._recorded.recorded import RecordedModel as RecordedModel
from ._registry import (
    KINDS as KINDS,
    kinds_content as kinds_content,
    kinds_text as kinds_text,
    make_model as make_model,
)
from ._scripted import Scripted as Scripted
from ._sdks.anthropic import AnthropicModel as AnthropicModel
from ._sdks.google import GoogleModel as GoogleModel
from ._tokens import (
    TOKEN_BYTES as TOKEN_BYTES,
    cautious_tokens as cautious_tokens,
    estimate_tokens as estimate_tokens,
    most_tokens as most_tokens,
)
