from ._answer import Answer as Answer
from ._answering import (
    DEPLOYMENTS as DEPLOYMENTS,
)
from ._answering import (
    NOT_TOLD as NOT_TOLD,
)
from ._answering import (
    asked_name as asked_name,
)
from ._answering import (
    is_deployment as is_deployment,
)
from ._answering import (
    same_model as same_model,
)
from ._batches.batch_job import (
    Job as Job,
)
from ._batches.batch_job import (
    JobCall as JobCall,
)
from ._batches.batch_job import (
    JobJournal as JobJournal,
)
from ._batches.batch_job import (
    PendingError as PendingError,
)
from ._batches.desk import Batches as Batches
from ._chat import (
    ChatModel as ChatModel,
)
from ._chat import (
    Message as Message,
)
from ._chat import (
    ModelError as ModelError,
)
from ._chat import (
    Reply as Reply,
)
from ._chat import (
    Request as Request,
)
from ._embedded.embedded import EmbeddedModel as EmbeddedModel
from ._embedded.weights import EMBEDDED as EMBEDDED
from ._embedded.weights import pull_weights as pull_weights
from ._embedded.weights import weights_file as weights_file
from ._endpoint_check import EndpointCheck as EndpointCheck
from ._endpoint_check import check_endpoint as check_endpoint
from ._finish import Finish as Finish
from ._finish import why_unfinished as why_unfinished
from ._gate.audit import AuditLog as AuditLog
from ._gate.audit_chain import (
    AuditError as AuditError,
)
from ._gate.audit_chain import (
    AuditTotals as AuditTotals,
)
from ._gate.audit_chain import (
    audit_replies as audit_replies,
)
from ._gate.audit_chain import (
    audit_totals as audit_totals,
)
from ._gate.audit_chain import (
    entry_hash as entry_hash,
)
from ._gate.audit_chain import (
    verify_audit_log as verify_audit_log,
)
from ._gate.budget import Budget as Budget
from ._gate.budget import Reservation as Reservation
from ._gate.cache import (
    SECRET_BYTES as SECRET_BYTES,
)
from ._gate.cache import (
    MemoryCache as MemoryCache,
)
from ._gate.cache import (
    ReplyCache as ReplyCache,
)
from ._gate.cache import (
    request_key as request_key,
)
from ._gate.context import (
    ContextError as ContextError,
)
from ._gate.context import (
    clearly_too_long as clearly_too_long,
)
from ._gate.context import (
    excess_tokens as excess_tokens,
)
from ._gate.context import (
    require_fit as require_fit,
)
from ._gate.context_windows import context_window as context_window
from ._gate.gate import Gate as Gate
from ._gate.limits import Limits as Limits
from ._gate.limits import Pace as Pace
from ._gate.request_log import RequestLog as RequestLog
from ._gate.stopping import StoppedError as StoppedError
from ._hosts import forbidden as forbidden
from ._hosts import host_of as host_of
from ._hosts import is_local as is_local
from ._hosts import normal_hosts as normal_hosts
from ._in_process.bits import (
    loading_options as loading_options,
)
from ._in_process.bits import (
    refuse_bits_without_libraries as refuse_bits_without_libraries,
)
from ._in_process.bits import (
    split_bits as split_bits,
)
from ._in_process.folder import folder_fingerprint as folder_fingerprint
from ._in_process.transformers_model import TransformersModel as TransformersModel
from ._in_process.vllm_model import VllmModel as VllmModel
from ._in_process.weights import (
    quiet_library as quiet_library,
)
from ._in_process.weights import (
    read_whole as read_whole,
)
from ._in_process.weights import (
    reading_weights as reading_weights,
)
from ._in_process.weights import (
    refuse_pickled as refuse_pickled,
)
from ._openai.openai import OpenAIModel as OpenAIModel
from ._prices import Price as Price
from ._prices import PriceList as PriceList
from ._recorded.answer_file import (
    AnswerFile as AnswerFile,
)
from ._recorded.answer_file import (
    RecordedAs as RecordedAs,
)
from ._recorded.answer_file import (
    RecordedFailure as RecordedFailure,
)
from ._recorded.answer_file import (
    write_answers as write_answers,
)
from ._recorded.failure import failure_of as failure_of
from ._recorded.failure import failure_text as failure_text
from ._recorded.recorded import RecordedModel as RecordedModel
from ._registry import (
    KINDS as KINDS,
)
from ._registry import (
    kinds_content as kinds_content,
)
from ._registry import (
    kinds_text as kinds_text,
)
from ._registry import (
    make_model as make_model,
)
from ._scripted import Scripted as Scripted
from ._sdks.anthropic import AnthropicModel as AnthropicModel
from ._sdks.google import GoogleModel as GoogleModel
from ._tokens import (
    TOKEN_BYTES as TOKEN_BYTES,
)
from ._tokens import (
    cautious_tokens as cautious_tokens,
)
from ._tokens import (
    estimate_tokens as estimate_tokens,
)
from ._tokens import (
    most_tokens as most_tokens,
)
